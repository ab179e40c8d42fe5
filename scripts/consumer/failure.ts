// Prints the stack of an error that is thrown inside the library.
import { WorkflowEngine } from "stepfold";

try {
  new WorkflowEngine({ workflow: { id: "w", nodes: [], edges: [] }, nodeDefinitions: {} });
} catch (error) {
  console.log((error as Error).stack);
}
