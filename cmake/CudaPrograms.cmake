# Programs built by nvcc, where it is found. Compiled and linked apart, because ccache keeps objects.
find_program(NVCC nvcc HINTS /usr/local/cuda/bin)

# cuda_programs(TARGET FOLDER FLAGS flags... SOURCES sources... [DEPENDS headers...]): FOLDER/<source name> of each source.
function(cuda_programs target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FLAGS;SOURCES;DEPENDS")
  if(MULCIBER_SANITIZE)
    return()  # nvcc does not build with sanitizers
  elseif(NOT NVCC)
    message(STATUS "nvcc is not here: ${target} are not built, and what needs them skips")
    return()
  endif()
  file(MAKE_DIRECTORY ${folder})
  foreach(source ${arg_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${folder}/${name}
      COMMAND ${CCACHE} ${NVCC} -std=c++17 ${arg_FLAGS} -c ${source} -o ${object}
      COMMAND ${NVCC} ${arg_FLAGS} ${object} -o ${folder}/${name}
      DEPENDS ${source} ${arg_DEPENDS} VERBATIM)
    list(APPEND programs ${folder}/${name})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${programs})
endfunction()
