# Decisions that the client makes without a node.
find_package(GTest REQUIRED)
add_executable(client_tests
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/device_choice.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/extensions.cpp)
target_link_libraries(client_tests PRIVATE clique_icd_objects GTest::gtest_main)
add_test(NAME unit.client COMMAND client_tests)
