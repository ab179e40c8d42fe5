import type { Violation } from "./violation.ts";

/** The parts of a package.json that decide what a user installs. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Checks that the library has no dependencies. Users pass in the clients of databases. */
export function checkDependencies(manifest: Manifest): Violation[] {
  const path = "packages/stepfold/package.json";
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies });
  return installed.map((name) => ({ rule: "dependencies", path, message: `${name} would be installed with the library` }));
}
