/** A workflow of two nodes that lead to each other for ever and never wait. */
export const circle = {
  id: "circle",
  nodes: [
    { id: "a", type: "noop" },
    { id: "b", type: "noop" },
  ],
  edges: [
    { source: "a", target: "b" },
    { source: "b", target: "a" },
  ],
  start: "a",
};
