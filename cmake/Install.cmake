# What `cmake --install` puts where, and the packages made of it.
#   bin/mulciber, bin/mulciberc++
#   lib/libmulciber.so.N          the translator and the runtime, with headers, a CMake package and pkg-config files
#   lib/mulciber/                 libcuda.so.1, libcudart.so.N and libcufft.so.N: in a folder of their own, so that they
#                                 stand in nobody's way; `mulciber run` puts it in front
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(cuda_folder ${CMAKE_INSTALL_LIBDIR}/mulciber)

file(RELATIVE_PATH from_programs /${CMAKE_INSTALL_BINDIR} /${cuda_folder})
target_compile_definitions(mulciber_tool PRIVATE MULCIBER_INSTALLED_LIBRARIES="${from_programs}")
target_compile_definitions(mulciber_compiler PRIVATE MULCIBER_INSTALLED_LIBRARIES="${from_programs}")
file(RELATIVE_PATH to_library /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(mulciber_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
set(cufft cufft10 cufft11 cufft12)
set_target_properties(cuda cudart11 cudart12 cudart13 nvml ${cufft} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/..")

target_include_directories(mulciber INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(mulciber INTERFACE cxx_std_20)
set_target_properties(mulciber PROPERTIES EXPORT_NAME translator)
set_target_properties(cuda PROPERTIES EXPORT_NAME libcuda)
set_target_properties(cudart13 PROPERTIES EXPORT_NAME libcudart)
# For C and C++ programs that know Vulkan themselves.
add_library(mulciber_engine_interface INTERFACE)
add_library(Mulciber::engine ALIAS mulciber_engine_interface)
set_target_properties(mulciber_engine_interface PROPERTIES EXPORT_NAME engine)
target_link_libraries(mulciber_engine_interface INTERFACE $<LINK_ONLY:mulciber>)
target_include_directories(mulciber_engine_interface INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# What mulciber_add_kernels() runs.
add_executable(Mulciber::command ALIAS mulciber_tool)
set_target_properties(mulciber_tool PROPERTIES EXPORT_NAME command)
add_executable(Mulciber::compiler ALIAS mulciber_compiler)
set_target_properties(mulciber_compiler PROPERTIES EXPORT_NAME compiler)
add_library(mulciber_cuda INTERFACE)
set_target_properties(mulciber_cuda PROPERTIES EXPORT_NAME cuda)
target_link_libraries(mulciber_cuda INTERFACE cuda cudart13)
target_include_directories(mulciber_cuda SYSTEM INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mulciber/cuda>)

install(TARGETS mulciber_tool EXPORT Mulciber RUNTIME COMPONENT runtime)
install(TARGETS mulciber EXPORT Mulciber LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS cuda cudart13 EXPORT Mulciber LIBRARY DESTINATION ${cuda_folder} COMPONENT runtime)
install(TARGETS cudart11 cudart12 nvml ${cufft} mulciber_audit LIBRARY DESTINATION ${cuda_folder} COMPONENT runtime)
foreach(link libcuda.so:cuda libcudart.so:cudart13 libcufft.so:cufft12)
  string(REPLACE ":" ";" link ${link})
  list(GET link 0 name)
  list(GET link 1 target)
  # Programs open them by these names as well as link to them.
  install(FILES $<TARGET_FILE_DIR:${target}>/${name} DESTINATION ${cuda_folder} COMPONENT runtime)
endforeach()

install(DIRECTORY include/mulciber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY include/cuda include/device DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mulciber COMPONENT development)
install(TARGETS mulciber_compiler EXPORT Mulciber RUNTIME COMPONENT development)
install(TARGETS mulciber_cuda mulciber_engine_interface EXPORT Mulciber)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Mulciber)
install(EXPORT Mulciber NAMESPACE Mulciber:: FILE MulciberTargets.cmake DESTINATION ${package_folder}
  COMPONENT development)
configure_package_config_file(packaging/MulciberConfig.cmake.in MulciberConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(MulciberConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/MulciberKernels.cmake ${PROJECT_BINARY_DIR}/MulciberConfig.cmake ${PROJECT_BINARY_DIR}/MulciberConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)
# On Debian the libraries of a package are a folder deeper than others.
file(RELATIVE_PATH from_packages /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name mulciber mulciber-cuda)
  configure_file(packaging/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

set(CPACK_PACKAGE_CONTACT "Mulciber <mulciber@packages.example>" CACHE STRING "Who answers for the Debian packages")
configure_file(packaging/changelog.Debian.in changelog.Debian @ONLY)
find_program(GZIP gzip REQUIRED)
foreach(page mulciber mulciberc++)
  configure_file(packaging/${page}.1.in ${page}.1 @ONLY)
  add_custom_command(OUTPUT ${page}.1.gz COMMAND ${GZIP} -9nc ${PROJECT_BINARY_DIR}/${page}.1 > ${page}.1.gz
    DEPENDS ${PROJECT_BINARY_DIR}/${page}.1 VERBATIM)
endforeach()
add_custom_command(OUTPUT changelog.gz COMMAND ${GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > changelog.gz
  DEPENDS CHANGELOG.md VERBATIM)
add_custom_command(OUTPUT changelog.Debian.gz
  COMMAND ${GZIP} -9nc ${PROJECT_BINARY_DIR}/changelog.Debian > changelog.Debian.gz
  DEPENDS ${PROJECT_BINARY_DIR}/changelog.Debian VERBATIM)
add_custom_target(documents ALL DEPENDS mulciber.1.gz mulciberc++.1.gz changelog.gz changelog.Debian.gz)
install(FILES ${PROJECT_BINARY_DIR}/mulciber.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/mulciberc++.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT development)
# Completions, of both commands in one file for each shell. bash and fish load the file that has the command's name.
set(MULCIBER_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh finds completions")
install(FILES packaging/mulciber.zsh DESTINATION ${MULCIBER_ZSH_COMPLETIONS} RENAME _mulciber COMPONENT runtime)
foreach(shell bash:bash-completion/completions: fish:fish/vendor_completions.d:.fish)
  string(REPLACE ":" ";" shell ${shell})
  list(GET shell 0 name)
  list(GET shell 1 folder)
  list(GET shell 2 ending)
  set(folder ${CMAKE_INSTALL_DATADIR}/${folder})
  install(FILES packaging/mulciber.${name} DESTINATION ${folder} RENAME mulciber${ending} COMPONENT runtime)
  set(link ${PROJECT_BINARY_DIR}/completions/mulciberc++${ending})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions)
  file(CREATE_LINK mulciber${ending} ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${folder} COMPONENT development)
endforeach()
foreach(package mulciber:runtime libmulciber-dev:development)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 name)
  list(GET package 1 component)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_BINARY_DIR}/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    COMPONENT ${component})
  install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
# Not in the Debian packages: Debian has the text.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mulciber COMPONENT licence)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME mulciber)
set(CPACK_PACKAGE_VENDOR Mulciber)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CUDA programs on Vulkan")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME mulciber)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libvulkan1")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)  # whatever the umask of who checked this out
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"Runs CUDA programs on any device with a Vulkan driver. PTX is translated to\n\
SPIR-V compute shaders, and libcuda.so.1 and libcudart.so map CUDA's contexts,\n\
streams, events and memory onto Vulkan.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmulciber-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "mulciber (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS clang)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Headers, CMake package and pkg-config files of Mulciber: the PTX translator,\n\
the engine interface, and CUDA host headers for building without a toolkit.")
include(CPack)
