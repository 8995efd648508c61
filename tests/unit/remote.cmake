# The client's side of sessions, against workers and daemons that the tests play themselves.
find_package(GTest REQUIRED)
add_executable(remote_tests
  ${CMAKE_CURRENT_LIST_DIR}/remote_config.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_errands.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_fakes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_link.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_loss.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_nodes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_reactor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_speed.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remote_uploads.cpp)
target_link_libraries(remote_tests PRIVATE clique_icd_objects GTest::gtest_main)
add_test(NAME unit.remote COMMAND remote_tests)
