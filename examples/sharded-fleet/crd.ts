// Prints the CustomResourceDefinition: node tools/run-ts.mjs examples/sharded-fleet/crd.ts | kubectl apply -f -
import { Ship } from './main.js';

console.log(JSON.stringify(Ship.crd(), null, 2));
