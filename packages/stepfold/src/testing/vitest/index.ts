export { type WorkflowMatchers, workflowMatchers } from "./workflow-matchers.ts";
