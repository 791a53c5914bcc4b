// Prints the CustomResourceDefinition: node tools/run-ts.mjs examples/my-kind/crd.ts | kubectl apply -f -
import { SharedSettings } from './main.js';

console.log(JSON.stringify(SharedSettings.crd(), null, 2));
