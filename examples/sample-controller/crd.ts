// Prints the CustomResourceDefinition: node tools/run-ts.mjs examples/sample-controller/crd.ts | kubectl apply -f -
import { Foo } from './main.js';

console.log(JSON.stringify(Foo.crd(), null, 2));
