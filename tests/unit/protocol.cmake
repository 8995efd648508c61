# Messages to bytes and back.
find_package(GTest REQUIRED)
add_executable(protocol_tests
  ${CMAKE_CURRENT_LIST_DIR}/protocol_codec.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_fuzz.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_line.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_placed_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_shared_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_spin.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol_zmq.cpp)
target_link_libraries(protocol_tests PRIVATE clique_protocol GTest::gtest_main)
add_test(NAME unit.protocol COMMAND protocol_tests)
