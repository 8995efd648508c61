# Programs and kernels, as far as the client handles them without a node.
find_package(GTest REQUIRED)
add_executable(program_tests
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/program_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/program_nodes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/program_spirv.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/remote/fakes.cpp)
target_link_libraries(program_tests PRIVATE clique_icd_objects GTest::gtest_main)
add_test(NAME unit.programs COMMAND program_tests)
