import { describe, expect, it } from "vitest";
import { idBeside, indexedOfTenant, isOfTenant, knownIdBeside, ofTenant, withoutTenant } from "./tenant.ts";

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

  it("are known by their names, and read without them", () => {
    expect([isOfTenant("acme", '"acme"/k'), isOfTenant("acme", '"acmes"/k'), isOfTenant("acme", "k")]).toEqual([true, false, false]);
    expect([withoutTenant("acme", '"acme"/k'), withoutTenant("acme", "k")]).toEqual(["k", "k"]);
  });

  it("are what an execution of a tenant means, whatever it writes", () => {
    const own = { workflowId: '"acme"/p', tenant: "acme" };
    expect(["c", '"acme"/c', '"beta"/c'].map((id) => idBeside(own, id))).toEqual(['"acme"/c', '"acme"/c', '"acme"/"beta"/c']);
    const long = { workflowId: indexedOfTenant("acme", "x".repeat(300)), tenant: "acme" };
    expect(idBeside(long, "c")).toBe('"acme"/c');
    // an execution with an id of its own choice names others as they are, but none of another tenant
    for (const tenant of ["acme", undefined]) {
      const bare = { workflowId: "p", tenant };
      expect(idBeside(bare, "c")).toBe("c");
      expect(idBeside(bare, '"beta"/c')).toBe(ofTenant(tenant, '"beta"/c'));
    }
  });

  it("that were shortened are found as they are, and never made", () => {
    const digest = indexedOfTenant("acme", "x".repeat(300));
    expect(knownIdBeside({ workflowId: '"acme"/p', tenant: "acme" }, digest)).toBe(digest);
    expect(knownIdBeside({ workflowId: '"acme"/p', tenant: "acme" }, "c")).toBe('"acme"/c');
    expect(idBeside({ workflowId: '"acme"/p', tenant: "acme" }, digest)).toBe(`"acme"/${digest}`);
  });
});
