import { describe, expect, it } from "vitest";
import { indexedOfTenant, ofTenant } from "./tenant.ts";

describe("ids and keys of tenants", () => {
  it("stay as they are without a tenant", () => {
    for (const text of ["order-7", "a/b", "é", "[x]"]) expect(ofTenant(undefined, text)).toBe(text);
  });

  it("are never those of another tenant, or of none, however tenants and keys are called", () => {
    const names = [undefined, "a", "a/b", '"', '"a"', '""', "\\", '"a"/b', 'a"/b'];
    const keys = ["k", "b/k", '"a"/k', '""/k', '"', "/k", '"a/b"/k', '\\"/k', "x".repeat(255), `"${"0".repeat(64)}`];
    for (const make of [ofTenant, indexedOfTenant]) {
      const owner = new Map<string, string | undefined>();
      for (const name of names) {
        for (const key of keys) {
          const made = make(name, key);
          if (owner.has(made)) expect(owner.get(made)).toBe(name);
          owner.set(made, name);
        }
      }
    }
  });

  it("do not say the tenant twice", () => expect(ofTenant("acme", ofTenant("acme", "p/0#1"))).toBe('"acme"/p/0#1'));

  it("fit into an index, however long they are", () => {
    const made = indexedOfTenant("acme", "x".repeat(300));
    expect(made).toMatch(/^"[0-9a-f]{64}$/);
    expect(indexedOfTenant("beta", "x".repeat(300))).not.toBe(made);
  });
});
