import { tour } from './main.js';

await tour((line) => console.log(line));
