import { resolve } from "node:path";
import { root } from "../public-entries.ts";

/** Data, logs and notes of what we started. */
export function servicesFolder(): string {
  return resolve(root, process.env.STEPFOLD_SERVICES_FOLDER ?? ".services");
}
