/** The workflows that are started without the code of their nodes. */
export const workflows = [
  {
    id: "order",
    nodes: [
      { id: "review", type: "approval", data: { message: "Ship {{ input.total }}?" } },
      { id: "pay", type: "pay" },
      { id: "sent", type: "signal", data: { name: "sent" } },
    ],
    edges: [
      { source: "review", target: "pay", sourceHandle: "approved" },
      { source: "pay", target: "sent" },
    ],
  },
  { id: "try", nodes: [{ id: "flaky", type: "flaky" }], edges: [] },
];
