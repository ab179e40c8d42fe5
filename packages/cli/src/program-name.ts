import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** How the user's own shell reaches this program: `stepfold` where it is installed for all, else `npx stepfold`. */
export function programName(searchPath: string = process.env.PATH ?? ""): string[] {
  // npm scripts add these folders; the shell that the next command is typed into does not have them
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "" && !/node_modules[\\/]\.bin[\\/]?$/.test(folder));
  return folders.some((folder) => existsSync(join(folder, "stepfold"))) ? ["stepfold"] : ["npx", "stepfold"];
}
