import type { Status } from "stepfold";

/** The meaning of each status, which gives its colour. */
export const statusMeaning: { readonly [S in Status]: "good" | "bad" | "wait" } = {
  active: "wait",
  paused: "wait",
  error: "wait",
  parked: "bad",
  completed: "good",
  failed: "bad",
  cancelled: "bad",
};
