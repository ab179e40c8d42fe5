import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ValueCodec } from "../values/codec.ts";
import { rejected } from "../values/rejected.ts";

/** Makes the error for a value that is not encrypted; undefined if such values are accepted. */
export type RefusePlain = ValueCodec["refusePlain"];

/** Reads the option `plain`. @throws StepfoldError `OPTION_INVALID` */
export function readPlain(plain: unknown): RefusePlain {
  if (plain === "accept") return undefined;
  if (plain !== "refuse") throw new StepfoldError("OPTION_INVALID", { option: "plain", reason: 'must be "refuse" or "accept"' });
  return (what) =>
    rejected(
      "encrypted",
      `${what} in plain text: it was written without encryption, perhaps before encryption was introduced. To read such values, pass plain: "accept" to encryptedStore`,
    );
}
