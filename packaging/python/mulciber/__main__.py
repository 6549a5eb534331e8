from mulciber import main

main()
