/** A SQLite value in Hrana's JSON form. */
export type HranaValue =
  | { readonly type: "null" }
  | { readonly type: "integer"; readonly value: string }
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "blob"; readonly base64: string };

/** A SQLite value in the native driver's mode of safe integers: integers are bigints, and a number is always a float. */
export type SqlValue = null | bigint | number | string | Uint8Array;

export function fromHrana(value: HranaValue): SqlValue {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return BigInt(value.value);
    case "blob":
      return Buffer.from(value.base64, "base64");
    default:
      return value.value;
  }
}

export function toHrana(value: SqlValue): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "bigint") return { type: "integer", value: String(value) };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "string") return { type: "text", value };
  return { type: "blob", base64: Buffer.from(value).toString("base64").replace(/=+$/, "") };
}
