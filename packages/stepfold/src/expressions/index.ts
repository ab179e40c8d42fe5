export { executionScope } from "./compile/scope.ts";
export { type CompiledExpression, compileExpression } from "./compile-expression.ts";
export { compileTemplate, compileTemplateWithin } from "./compile-template.ts";
export { defaultExpressionLimits, type ExpressionLimits } from "./evaluation/expression-limits.ts";
export { expressionLanguage } from "./expression-language.ts";
export { loadFunctions } from "./load-functions.ts";
