# Makes a header that holds a text as a string literal: cmake -DTEXT=FILE -DHEADER=FILE -P embed.cmake
file(READ ${TEXT} text)
file(WRITE ${HEADER} "R\"embedded(${text})embedded\"\n")
