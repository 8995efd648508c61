# Read by cpack before it makes packages of one kind.
if(CPACK_GENERATOR STREQUAL "DEB")
  # The packages with symbols are made of the files as they were linked, which are stripped after that.
  set(CPACK_STRIP_FILES OFF)
elseif(CPACK_GENERATOR STREQUAL "TGZ")
  # One archive of everything, with paths below its own folder.
  set(CPACK_MONOLITHIC_INSTALL ON)
  set(CPACK_SET_DESTDIR OFF)
  set(CPACK_INSTALL_PREFIX "")
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/relocatable.cmake)
endif()
