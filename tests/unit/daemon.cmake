# What the daemon decides by itself, without a device.
find_package(GTest REQUIRED)
add_executable(daemon_unit_tests
  ${CMAKE_CURRENT_LIST_DIR}/daemon/checks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/device_filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/report_order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/staging.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/transfers.cpp)
target_link_libraries(daemon_unit_tests PRIVATE clique_daemon_objects GTest::gtest_main)
add_test(NAME unit.daemon COMMAND daemon_unit_tests)
