# Removes from the archive what names files by absolute paths.
file(REMOVE_RECURSE ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/etc ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/lib/systemd)
