# Tests of the gateway and of endpoints that meet there.
isthmus_test(NAME gateway_test THREADS
  SOURCES
    gateway/gateway_test.cpp
    gateway/gateway_anew_test.cpp
    gateway/gateway_bridge_test.cpp
    gateway/gateway_plain_test.cpp
    gateway/gateway_direct_test.cpp
    gateway/gateway_failover_test.cpp
    gateway/gateway_faults_test.cpp
    gateway/gateway_extension_test.cpp
    gateway/gateway_growth_test.cpp
    gateway/gateway_junctions_test.cpp
    gateway/gateway_lending_test.cpp
    gateway/gateway_links_test.cpp
    gateway/gateway_reconnect_test.cpp
    gateway/gateway_set_test.cpp
    gateway/gateway_survival_test.cpp
    gateway/gateway_thread_test.cpp
    gateway/control_test.cpp
    gateway/link_figures_test.cpp
    gateway/presence_test.cpp
    gateway/readiness_test.cpp
    gateway/sharing_test.cpp
  LIBS isthmus_daemon)
