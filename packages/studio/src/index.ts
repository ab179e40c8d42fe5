import { fileURLToPath } from "node:url";
import { readPageFiles } from "./serving/page-file.ts";
import { servePage } from "./serving/serve-pages.ts";

/** The options of `studio`. */
export interface StudioOptions {
  /** The folder of the built page. Default: that of this package. */
  readonly folder?: string | undefined;
}

/** Answers requests for the pages of Studio and their files; null for everything else. */
export type StudioPages = (request: Request) => Promise<Response | null>;

/**
 * Serves Stepfold Studio, the page on which people see, answer and move executions. All files are read now, and nothing else can be read
 * later. The page calls the API of the server that serves it. Give the result to `createServer`:
 *
 * ```ts
 * import { createServer } from "@stepfold/server";
 * import { studio } from "@stepfold/studio";
 *
 * const server = createServer({ runtime, store, auth, studio: studio() });
 * ```
 *
 * @throws the error of the file system if the folder cannot be read
 */
export function studio({ folder }: StudioOptions = {}): StudioPages {
  const files = readPageFiles(folder ?? fileURLToPath(new URL("../dist/app", import.meta.url)));
  return (request) => servePage(request, files);
}
