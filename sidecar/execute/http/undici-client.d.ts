/** undici's HTTP/1.1 client alone: its index pulls in fetch, caches and agents we must not use, and costs 40 ms of every start. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';

  export = Client;
}
