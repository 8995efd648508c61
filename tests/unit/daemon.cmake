# What the daemon decides by itself, without a device.
find_package(GTest REQUIRED)
add_executable(daemon_unit_tests
  ${CMAKE_CURRENT_LIST_DIR}/daemon/checks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/device_filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/documentation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/report_order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/settings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/staging.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/transfers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker_options.cpp)
target_compile_definitions(daemon_unit_tests PRIVATE CLIQUE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(daemon_unit_tests PRIVATE clique_daemon_objects GTest::gtest_main)
add_test(NAME unit.daemon COMMAND daemon_unit_tests)
