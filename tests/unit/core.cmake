# The bookkeeping of coherence.
add_executable(core_tests ${CMAKE_CURRENT_LIST_DIR}/icd/core/range_map.cpp ${CMAKE_CURRENT_LIST_DIR}/icd/core/arrivals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/icd/core/transfer.cpp)
target_link_libraries(core_tests PRIVATE clique_icd_objects GTest::gtest_main)
add_test(NAME unit.core COMMAND core_tests)
