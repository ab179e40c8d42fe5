import type { ExtraFunctions } from "../functions/extra-functions.ts";
import { base64Functions } from "./bytes.ts";
import { hashFunctions } from "./hash-functions.ts";
import { patternFunctions } from "./pattern-functions.ts";
import { seededFunctions } from "./seeded-functions.ts";
import { timeFunctions } from "./time-functions.ts";
import { valueFunctions } from "./value-functions.ts";

/** Everything that `extraNames` names. */
export const allExtraFunctions: ExtraFunctions = new Map([
  ...base64Functions,
  ...hashFunctions,
  ...patternFunctions,
  ...seededFunctions,
  ...timeFunctions,
  ...valueFunctions,
]);
