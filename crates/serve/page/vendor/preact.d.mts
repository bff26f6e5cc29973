// The types of preact.mjs: those of its package.
export * from "preact";
