import { isAbsolute, relative } from "node:path";

/** A path as a person in this folder would write it: relative, unless that is longer than it helps. */
export function namePath(path: string, folder: string = process.cwd()): string {
  const short = relative(folder, path);
  return short === "" || isAbsolute(short) || short.startsWith("../../..") ? path : short.replaceAll("\\", "/");
}
