import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { StepfoldError } from "../core/errors/stepfold-error.ts";

/** What needs a driver: the name of a store, or a queue. */
type Needing = string | { readonly queue: string };

/**
 * Imports the driver of a database or of a queue. The library does not depend on drivers, so it takes the one that is installed in the
 * current folder, or else beside this package.
 *
 * @param name the name of the package, or of an entry of it, such as `mysql2/promise`
 * @throws StepfoldError `DRIVER_MISSING`; `STORE_REJECTED` or `QUEUE_REJECTED` if the driver is installed, but cannot be loaded
 */
export async function importDriver<T>(name: string, needing: Needing): Promise<T> {
  // thunks, because to look for a package may fail as well as to load it
  for (const specifier of [() => fileInCurrentFolder(name) ?? name, () => name]) {
    try {
      return (await import(specifier())) as T;
    } catch (cause) {
      if (isMissing(cause, name)) continue;
      const reason = `its driver "${name}" is installed, but cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`;
      if (typeof needing === "string") throw new StepfoldError("STORE_REJECTED", { store: needing, reason }, { cause });
      throw new StepfoldError("QUEUE_REJECTED", { ...needing, reason }, { cause });
    }
  }
  throw missing(name, needing);
}

/**
 * Returns the URL of the file that `require` would load in the current folder. Null if the package there has files for `import` only, which
 * only a module in that folder could look up.
 *
 * @throws if the package is not there
 */
function fileInCurrentFolder(name: string): string | null {
  try {
    return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href;
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return null;
    throw cause;
  }
}

/** Imports the first of several drivers that is installed. @throws StepfoldError as `importDriver`; `DRIVER_MISSING` names the first one */
export async function importOneOf<T extends Readonly<Record<string, unknown>>>(
  names: readonly (keyof T & string)[],
  store: string,
): Promise<{ [K in keyof T]: { readonly name: K; readonly module: T[K] } }[keyof T]> {
  for (const name of names) {
    try {
      return { name, module: await importDriver<T[typeof name]>(name, store) };
    } catch (error) {
      if (!StepfoldError.is(error, "DRIVER_MISSING")) throw error;
    }
  }
  throw missing(names[0]!, store);
}

function missing(name: string, needing: Needing): StepfoldError {
  return new StepfoldError("DRIVER_MISSING", { ...(typeof needing === "string" ? { store: needing } : needing), driver: packageOf(name) });
}

/** Tells by Node's message whether this package, or this entry of it, is missing, and not a package that it imports. */
function isMissing(cause: unknown, name: string): boolean {
  const { code, message = "" } = (cause ?? {}) as { code?: unknown; message?: string };
  return (
    (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && [name, packageOf(name)].some((one) => message.includes(`'${one}'`))
  );
}

/** Returns the name of the package, for `npm install`. */
function packageOf(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}
