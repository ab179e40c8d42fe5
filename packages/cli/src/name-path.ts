import { isAbsolute, relative } from "node:path";

/** Returns a path as a person in this folder would write it: relative; absolute for the folder itself, or if it begins far above it. */
export function namePath(path: string, folder: string = process.cwd()): string {
  const short = relative(folder, path);
  return short === "" || isAbsolute(short) || short.startsWith("../../..") ? path : short.replaceAll("\\", "/");
}
