# Messages to bytes and back.
find_package(GTest REQUIRED)
add_executable(protocol_tests
  ${CMAKE_CURRENT_LIST_DIR}/protocol/codec.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/fuzz.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/line.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/placed_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/shared_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/spin.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol/zmq.cpp)
target_link_libraries(protocol_tests PRIVATE clique_protocol GTest::gtest_main)
add_test(NAME unit.protocol COMMAND protocol_tests)
