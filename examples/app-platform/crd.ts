// Prints the CustomResourceDefinition: node tools/run-ts.mjs examples/app-platform/crd.ts | kubectl apply -f -
import { App } from './app.js';

console.log(JSON.stringify(App.crd(), null, 2));
