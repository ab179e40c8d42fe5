import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the words that call this program in the user's shell: `stepfold` if it is on the search path, else `npx stepfold`. */
export function programName(searchPath: string = process.env.PATH ?? ""): string[] {
  // npm scripts add these folders to the search path; the shell in which the user types the next command does not have them
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "" && !/node_modules[\\/]\.bin[\\/]?$/.test(folder));
  return folders.some((folder) => existsSync(join(folder, "stepfold"))) ? ["stepfold"] : ["npx", "stepfold"];
}
