# The CUDA backend's arithmetic, without a GPU.
if(CUDA_INCLUDE_DIR)
  find_package(GTest REQUIRED)
  add_executable(cuda_unit_tests
    ${CMAKE_CURRENT_LIST_DIR}/cuda/launch.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda/nd_range.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda/pixel_format.cpp)
  target_link_libraries(cuda_unit_tests PRIVATE clique_daemon_objects GTest::gtest_main)
  add_test(NAME unit.cuda COMMAND cuda_unit_tests)
endif()
