# The client's side of sessions, with workers and daemons that the tests simulate; and its settings.
find_package(GTest REQUIRED)
add_executable(remote_tests
  ${CMAKE_CURRENT_LIST_DIR}/icd/common/documentation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/common/settings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/errands.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/fakes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/link.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/loss.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/nodes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/reactor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/speed.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/uploads.cpp)
target_link_libraries(remote_tests PRIVATE clique_icd_objects GTest::gtest_main)
target_compile_definitions(remote_tests PRIVATE CLIQUE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
add_test(NAME unit.remote COMMAND remote_tests)
