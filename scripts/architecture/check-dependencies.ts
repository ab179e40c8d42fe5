import { libraryDependencies } from "./layers.ts";
import type { Violation } from "./violation.ts";

/** The parts of a package.json that decide what a user installs. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The library installs itself and the JSON Schema validator; clients of databases are handed in. */
export function checkDependencies(manifest: Manifest): Violation[] {
  const path = "packages/stepfold/package.json";
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies });
  const extra = installed.filter((name) => !libraryDependencies.includes(name));
  const missing = libraryDependencies.filter((name) => !Object.hasOwn(manifest.dependencies ?? {}, name));
  return [
    ...extra.map((name) => ({ rule: "dependencies", path, message: `${name} would be installed with the library` })),
    ...missing.map((name) => ({ rule: "dependencies", path, message: `${name} is missing` })),
  ];
}
