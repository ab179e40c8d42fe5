import { resolve } from "node:path";
import { root } from "../public-entries.ts";

/** Returns the folder with the data, logs and pid files of the started servers. */
export function servicesFolder(): string {
  return resolve(root, process.env.STEPFOLD_SERVICES_FOLDER ?? ".services");
}
