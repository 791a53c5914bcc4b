// undici 7 has types for the whole package only; this is the one file of it that we load.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}
