# Manual pages and scripts of shell completion, made from `isthmus --help` and two pages of docs/. They
# need the packages of the command (pyproject.toml). Without these they are left out.
execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import ClusterShell, pydantic, rich, typer"
                RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  add_custom_target(manual)
  message(STATUS "Manual pages: not made, for ${Python3_EXECUTABLE} has no typer, rich, pydantic or "
                 "ClusterShell")
  return()
endif()
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/*.py")
set(made "${PROJECT_BINARY_DIR}/share")
add_custom_command(
  OUTPUT "${made}/.stamp"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${made}"
  COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/generate/manual.py" "${made}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${made}/.stamp"
  DEPENDS ${command_sources} "${PROJECT_SOURCE_DIR}/tools/generate/manual.py"
          "${PROJECT_SOURCE_DIR}/tools/generate/commandhelp.py"
          "${PROJECT_SOURCE_DIR}/tools/generate/roff.py"
          "${PROJECT_SOURCE_DIR}/tools/generate/grid_keys.py"
          "${PROJECT_SOURCE_DIR}/docs/grid.md" "${PROJECT_SOURCE_DIR}/docs/environment.md"
          "${PROJECT_SOURCE_DIR}/CMakeLists.txt"
  COMMENT "Generating the manual pages" VERBATIM)
add_custom_target(manual ALL DEPENDS "${made}/.stamp")
install(DIRECTORY "${made}/isthmus/" DESTINATION "${CMAKE_INSTALL_DATADIR}")
install(DIRECTORY "${made}/isthmus-lab/" DESTINATION "${CMAKE_INSTALL_DATADIR}"
        COMPONENT lab EXCLUDE_FROM_ALL)
