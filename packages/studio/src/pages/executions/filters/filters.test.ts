import { describe, expect, test } from "vitest";
import { countFilters, type Filters, filtersOf, noFilters, queryOf, searchOf, unknownIn } from "./filters.ts";

const all: Filters = {
  status: ["paused", "error"],
  workflow: "order & more",
  waiting: "external",
  created: "24h",
  metadata: [
    ["region", "eu=north"],
    ["tier", "7"],
  ],
  text: "card expired",
  idPrefix: "order-",
  node: "charge",
  error: "DECLINED",
  responder: "ada",
  order: "oldest",
};

describe("filters and the address", () => {
  test("all filters come back from the address they were written to", () => {
    expect(filtersOf(searchOf(all))).toEqual(all);
  });

  test("no filters are no query", () => {
    expect(searchOf(noFilters)).toBe("");
    expect(filtersOf("")).toEqual(noFilters);
  });

  test("a link with words that this version does not know still opens", () => {
    expect(filtersOf("?status=paused,exploded&waiting=toString&created=never&color=red&order=up&workflow=&meta.=x")).toEqual({
      ...noFilters,
      status: ["paused"],
    });
  });

  test("what is not known in a link is named", () => {
    expect(unknownIn("?status=paused,exploded&waiting=toString&created=never&color=red&order=up&workflow=&meta.=x")).toEqual([
      "status=exploded",
      "waiting=toString",
      "created=never",
      "color=red",
      "order=up",
      "1 more",
    ]);
    expect(unknownIn(`?flag&foo=${"a".repeat(100)}`)).toEqual(["flag", `foo=${"a".repeat(35)}…`]);
    expect(unknownIn(searchOf(all))).toEqual([]);
    expect(unknownIn("?status=&waiting=&order=newest&status=failed&status=active")).toEqual([]);
  });

  test("status may stand several times or with commas, in any order", () => {
    expect(filtersOf("?status=failed&status=active,paused").status).toEqual(["active", "paused", "failed"]);
  });

  test("each value of metadata counts as a filter, the order does not", () => {
    expect(countFilters(all)).toBe(11);
    expect(countFilters({ ...noFilters, order: "oldest" })).toBe(0);
  });
});

describe("filters and the query of the API", () => {
  const now = new Date(2026, 10, 22, 15, 30, 12).getTime();

  test("what is not set is left out", () => {
    expect(Object.values(queryOf(noFilters, now)).every((value) => value === undefined)).toBe(true);
  });

  test("a window of time goes back from the server's clock, in whole minutes", () => {
    expect(queryOf({ ...noFilters, created: "1h" }, now).createdAfter).toBe(new Date(2026, 10, 22, 14, 30).getTime());
  });

  test("today begins at the midnight of the reader, and includes it", () => {
    expect(queryOf({ ...noFilters, created: "today" }, now).createdAfter).toBe(new Date(2026, 10, 22).getTime() - 1);
  });

  test("every filter is asked for", () => {
    expect(queryOf(all, now)).toEqual({
      status: ["paused", "error"],
      workflow: "order & more",
      waiting: "external",
      createdAfter: expect.any(Number),
      metadata: { region: "eu=north", tier: "7" },
      q: "card expired",
      idPrefix: "order-",
      node: "charge",
      error: "DECLINED",
      responder: "ada",
      order: "oldest",
    });
  });
});
