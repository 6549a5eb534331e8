// Folders that keep what a later process trusts. Needs the C library alone, for libmulciber_audit.so.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mulciber::util {

// Opens the folder if it is a real one, this user's, and nobody else can write into it; else -1 and `problem` says why.
inline int openPrivateFolder(const char* path, const char*& problem) {
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
    problem = "it is a symbolic link";
    return -1;
  }
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &status) != 0) problem = std::strerror(errno);
  else if (status.st_uid != geteuid()) problem = "it belongs to another user";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) problem = "other users can write into it";
  else return folder;
  if (folder >= 0) close(folder);
  return -1;
}

// A file of this user's.
inline bool isOwnFile(const struct stat& status) { return S_ISREG(status.st_mode) && status.st_uid == geteuid(); }

}  // namespace mulciber::util
