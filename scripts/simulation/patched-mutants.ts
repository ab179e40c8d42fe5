import { codeMutants } from "./code-mutants.ts";
import { deploymentMutants } from "./deployment-mutants.ts";
import { durableMutants } from "./durable-mutants.ts";
import { identityMutants } from "./identity-mutants.ts";
import type { CodeMutant } from "./mutant.ts";
import { valueMutants } from "./value-mutants.ts";

/** All mistakes in the code that the schedules have to notice. */
export const patchedMutants: readonly CodeMutant[] = [
  ...codeMutants,
  ...deploymentMutants,
  ...durableMutants,
  ...identityMutants,
  ...valueMutants,
];
