# Tests of the gateway and of endpoints that meet there.
isthmus_test(NAME gateway_test THREADS
  SOURCES
    gateway_test.cpp
    gateway_direct_test.cpp
    gateway_failover_test.cpp
    gateway_faults_test.cpp
    gateway_links_test.cpp
  LIBS isthmus_daemon)
