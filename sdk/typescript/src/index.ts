// What a plugin imports from the package. The messages and services of the protocol are in @swarmhost/plugin/v1/….
export { Failure } from "./errors.js";
export { bytes, serve, type Call, type Options, type Served } from "./serve.js";
export { answers, type Method } from "./shim.js";
