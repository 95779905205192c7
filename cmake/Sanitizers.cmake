# ISTHMUS_SANITIZE=address|undefined|thread instruments every target of the tree.
if(ISTHMUS_SANITIZE)
  add_compile_options(-fsanitize=${ISTHMUS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ISTHMUS_SANITIZE})
endif()
