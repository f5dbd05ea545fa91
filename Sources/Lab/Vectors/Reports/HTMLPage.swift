import Base
import Cryptography

/// A page that holds everything it needs. Its policy allows this one style and this one script and no request at all, so
/// nothing that a report quotes can do anything.
struct HTMLPage {
  let title: String
  let body: String

  var bytes: [UInt8] {
    let page = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <title>\(escaped(title))</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      \(body)
      <script>\(Self.script)</script>
      </body>
      </html>

      """
    return Array(page.utf8)
  }

  private static let policy =
    "default-src 'none'; style-src '\(source(style))'; script-src '\(source(script))'; base-uri 'none'; form-action 'none'"

  /// What the policy calls an inline style or script (CSP Level 3, 2.3.1).
  private static func source(_ text: String) -> String {
    "sha256-\(Base64.encode(HashAlgorithm.sha256.hash(Array(text.utf8))))"
  }

  private static let style = """
    :root{color-scheme:light dark;--page:light-dark(#fff,#0d1117);--soft:light-dark(#f6f8fa,#161b22);
    --text:light-dark(#1f2328,#e6edf3);--mute:light-dark(#59636e,#9ea7b1);--line:light-dark(#d8dee4,#30363d);
    --good:light-dark(#116329,#56d364);--bad:light-dark(#b3261e,#ff8a80);--skip:light-dark(#7d4e00,#e3b341);
    --good-soft:light-dark(#e8f5ec,#12261a);--bad-soft:light-dark(#fdeeed,#2d1513);--skip-soft:light-dark(#fdf5e0,#2a210c)}
    *{box-sizing:border-box}[hidden]{display:none!important}
    body{font:16px/1.55 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:72rem;margin:0 auto;
    padding:2.5rem 1.25rem 4rem}
    h1{font-size:1.75rem;line-height:1.25;margin:.1rem 0 1.25rem;text-wrap:balance}
    h2{font-size:1.2rem;margin:2.75rem 0 .75rem}h3{font-size:1rem;margin:0 0 .35rem;overflow-wrap:anywhere}
    p{margin:.4rem 0}a{color:inherit;text-underline-offset:.2em}
    .kind,small,footer{color:var(--mute)}.kind{text-transform:uppercase;letter-spacing:.08em;font-size:.8rem;margin:0}
    .verdict{font-size:1.35rem;font-weight:650;padding:.8rem 1.1rem;border-radius:.6rem;margin:0 0 1rem;
    border-left:.35rem solid}
    .verdict.good{color:var(--good);background:var(--good-soft)}
    .verdict.bad{color:var(--bad);background:var(--bad-soft)}
    .verdict.skip{color:var(--skip);background:var(--skip-soft)}
    .tiles{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 2rem;padding:0;margin:0 0 .5rem}
    .tiles b{font-size:1.5rem;font-variant-numeric:tabular-nums}.tiles .none,td.none{color:var(--mute)}
    .tiles .passed b{color:var(--good)}.tiles .failed b,td.failed{color:var(--bad)}.tiles .skipped b,.tiles .known b{color:var(--skip)}
    td.failed{font-weight:650}
    svg{display:block;width:100%;height:.5rem;border-radius:.25rem;background:var(--line);margin-bottom:1.25rem}
    rect.passed{fill:var(--good)}rect.failed{fill:var(--bad)}rect.skipped{fill:var(--skip)}rect.known{fill:var(--skip)}
    dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:0}
    dt{color:var(--mute)}dd{margin:0;overflow-wrap:anywhere}
    code{font:.86em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
    .cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr))}
    article{border:1px solid var(--line);border-left:.35rem solid var(--bad);border-radius:.6rem;padding:.9rem 1.1rem;
    break-inside:avoid}
    .risk{margin:.6rem 0 0;padding:.5rem .8rem;list-style:none;background:var(--bad-soft);border-radius:.4rem}
    table{border-collapse:collapse;width:100%;margin:.25rem 0 1rem}
    th{font-weight:600;font-size:.85rem;color:var(--mute)}
    th,td{border-bottom:1px solid var(--line);padding:.4rem .75rem .4rem 0;text-align:left;vertical-align:top;
    overflow-wrap:anywhere}
    .pair{display:grid;gap:0 3rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr))}
    .counts th,.counts td{overflow-wrap:break-word}
    .matrix tbody th{font-weight:400;color:var(--text)}.matrix td{font-variant-numeric:tabular-nums}
    .matrix td.passed{color:var(--good)}
    .n{text-align:right;font-variant-numeric:tabular-nums;padding:.4rem 0 .4rem .75rem}
    .cases{table-layout:fixed}.cases td{padding-right:1rem}.cases th:nth-child(1){width:24%}.cases th:nth-child(3){width:25%}
    .cases th:nth-child(4){width:21%}.cases td:first-child{font-weight:550}
    .cases small{display:block;font-weight:400;font-size:.8rem}
    .badge{display:inline-block;font-size:.8rem;font-weight:600;padding:.05rem .55rem;border-radius:1rem}
    tr.passed .badge{color:var(--good);background:var(--good-soft)}
    tr.failed .badge{color:var(--bad);background:var(--bad-soft)}
    tr.skipped .badge,tr.known .badge{color:var(--skip);background:var(--skip-soft)}
    tr:target td{background:var(--skip-soft)}
    details{border-bottom:1px solid var(--line)}details[open]{padding-bottom:.5rem}
    summary{cursor:pointer;font-weight:550;padding:.5rem 0}
    summary span{font-weight:400;font-size:.85rem;color:var(--mute);margin-left:.35rem}
    summary span.failed{color:var(--bad);font-weight:600}
    form:not([hidden]){display:flex;flex-wrap:wrap;align-items:end;gap:.75rem 1rem;position:sticky;top:0;z-index:1;
    background:var(--page);padding:.75rem 0;border-bottom:1px solid var(--line)}
    label{display:grid;font-size:.85rem;color:var(--mute)}label:first-child{flex:1 1 16rem}
    input,select{font:inherit;font-size:1rem;color:var(--text);background:var(--soft);border:1px solid var(--line);
    border-radius:.4rem;padding:.4rem .6rem;width:100%;height:2.5rem}
    output{color:var(--mute);padding-bottom:.4rem;min-width:9rem}
    footer{margin-top:3rem;font-size:.9rem;max-width:46rem}
    :focus-visible{outline:2px solid var(--good);outline-offset:2px}
    @media (max-width:40rem){body{padding:1.25rem 1rem 3rem}h1{font-size:1.4rem}.verdict{font-size:1.15rem}
    .tiles{gap:.25rem 1.25rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}
    .cases,.cases tbody,.cases tr,.cases td{display:block;width:auto}.cases thead{display:none}
    .cases tr{border-bottom:1px solid var(--line);padding:.6rem 0}.cases td{border:0;padding:.1rem 0}
    article dl{grid-template-columns:max-content 1fr}article dd{margin:0}
    .cases td:nth-child(3)::before{content:"must be ";color:var(--mute)}.cases small{display:inline;margin-left:.35rem}.counts td{font-size:.95rem}.counts th{font-size:.8rem}.n{padding-left:.5rem}
    form:not([hidden]){position:static}}
    @media print{form:not([hidden]){display:none}details::details-content{content-visibility:visible;height:auto}
    body{max-width:none;padding:0;font-size:11pt}}
    """

  /// Hides the cases that do not have all the words, and opens the clauses of those that do. Without it the page shows
  /// everything.
  private static let script = """
    'use strict';
    const form=document.getElementById('search');
    if(form){
      const words=document.getElementById('words'),outcome=document.getElementById('outcome');
      const hits=document.getElementById('hits');
      const clauses=[...document.querySelectorAll('details')].map(section=>({section,wasOpen:section.open,
        rows:[...section.querySelectorAll('tbody tr')].map(row=>({row,
          text:(section.querySelector('summary').textContent+' '+row.textContent).toLowerCase()}))}));
      const total=clauses.reduce((sum,clause)=>sum+clause.rows.length,0);
      const show=()=>{
        const wanted=words.value.toLowerCase().split(/\\s+/).filter(Boolean);
        const searches=wanted.length>0||outcome.value!=='';
        let count=0;
        for(const clause of clauses){
          let found=0;
          for(const {row,text} of clause.rows){
            const isHit=wanted.every(word=>text.includes(word))&&(outcome.value===''||row.className===outcome.value);
            row.hidden=!isHit;
            if(isHit)found+=1;
          }
          clause.section.hidden=found===0;
          clause.section.open=searches?found>0:clause.wasOpen;
          count+=found;
        }
        hits.textContent=searches?(count===0?'no case':count+' of '+total+' cases'):total+' cases';
      };
      const reveal=()=>{
        const row=location.hash.length>1&&document.getElementById(decodeURIComponent(location.hash.slice(1)));
        const section=row&&row.closest('details');
        if(!section)return;
        if(row.hidden){words.value='';outcome.value='';show()}
        section.open=true;
        row.scrollIntoView({block:'center'});
      };
      words.addEventListener('input',show);
      outcome.addEventListener('change',show);
      form.addEventListener('submit',event=>event.preventDefault());
      addEventListener('hashchange',reveal);
      form.hidden=false;
      show();
      reveal();
    }
    """
}
