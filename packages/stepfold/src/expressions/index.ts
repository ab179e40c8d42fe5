export { type CompiledExpression, compileExpression } from "./compile-expression.ts";
export { compileTemplate, compileTemplateWithin } from "./compile-template.ts";
export { expressionLanguage } from "./expression-language.ts";
export { defaultExpressionLimits, type ExpressionLimits } from "./expression-limits.ts";
export { executionScope } from "./scope.ts";
